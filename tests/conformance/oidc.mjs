// An authorisation server that we did not write (oidc-provider), and an MCP server by the
// official SDK that trusts it. Prints the address of the MCP server, and serves until it is
// ended. Started by host/mcp/tests/oidc.rs.
//
//   node oidc.mjs '{"lifetime": 3600}'

import { createServer } from "node:http";

import express from "express";
import { Provider } from "oidc-provider";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";

const options = JSON.parse(process.argv[2] ?? "{}");

const listen = async (server) => {
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return `http://127.0.0.1:${server.address().port}`;
};

const authorisation = createServer();
const issuer = await listen(authorisation);
const app = express();
const resource = `${await listen(createServer(app))}/mcp`;

const provider = new Provider(issuer, {
  clients: [
    { client_id: "resource", client_secret: "of the resource", redirect_uris: [], response_types: [], grant_types: [] },
    {
      client_id: "known",
      client_secret: "of the known client",
      application_type: "native",
      redirect_uris: ["http://127.0.0.1/known"],
      grant_types: ["authorization_code", "refresh_token"],
    },
  ],
  scopes: ["read", "write", "offline_access"],
  cookies: { keys: ["only for tests"] },
  pkce: { required: () => true },
  rotateRefreshToken: true,
  issueRefreshToken: (_, client) => client.grantTypeAllowed("refresh_token"),
  features: {
    devInteractions: { enabled: true },
    introspection: { enabled: true },
    registration: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, indicator) => {
        if (indicator !== resource) throw new Error(`asked for ${indicator}`);
        return { scope: "read write", audience: resource, accessTokenTTL: options.lifetime ?? 3600 };
      },
    },
  },
});
authorisation.on("request", provider.callback());

// The resource asks the authorisation server about every token, so a revoked one is void at once.
const verifyAccessToken = async (token) => {
  const answer = await fetch(`${issuer}/token/introspection`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa("resource:of+the+resource")}` },
    body: new URLSearchParams({ token }),
  });
  const { InvalidTokenError } = await import("@modelcontextprotocol/sdk/server/auth/errors.js");
  const found = await answer.json();
  if (!found.active || found.aud !== resource) throw new InvalidTokenError("not a token for this");
  return { token, clientId: found.client_id, scopes: (found.scope ?? "").split(" "), expiresAt: found.exp };
};
const resourceMetadataUrl = resource.replace("/mcp", "/.well-known/oauth-protected-resource/mcp");
const guard = (requiredScopes) => requireBearerAuth({ verifier: { verifyAccessToken }, requiredScopes, resourceMetadataUrl });

app.get("/.well-known/oauth-protected-resource/mcp", (_, answer) => {
  answer.json({ resource, authorization_servers: [issuer], scopes_supported: ["read"] });
});
app.all("/mcp", express.json(), (request, answer, next) => {
  const writes = request.body?.method === "tools/call" && request.body.params.name === "write";
  guard(writes ? ["write"] : ["read"])(request, answer, next);
});
app.post("/mcp", async (request, answer) => {
  const server = new McpServer({ name: "guarded", version: "1" });
  for (const name of ["read", "write"]) {
    server.registerTool(name, { description: name }, () => ({ content: [{ type: "text", text: `${name} done` }] }));
  }
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  await server.connect(transport);
  await transport.handleRequest(request, answer, request.body);
});
app.all("/mcp", (_, answer) => answer.status(405).end());

console.log(resource);
