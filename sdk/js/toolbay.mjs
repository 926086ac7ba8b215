// Drives `toolbay run`: turns over lines of JSON. See host/PROTOCOL.md.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export class Toolbay {
  /** onPermission(request) answers true or false; onEvent(event) sees every line. */
  constructor({ command = ["toolbay", "run"], onPermission = () => false, onEvent = () => {} } = {}) {
    this.onPermission = onPermission;
    this.onEvent = onEvent;
    const [program, ...args] = command;
    this.process = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.lines = createInterface({ input: this.process.stdout, crlfDelay: Infinity })[Symbol.asyncIterator]();
    this.ready = this.#next();
  }

  /** A call that the model has made; it starts at once. */
  add(id, name, input) {
    this.#send({ type: "tool_use", id, name, input });
  }

  /** The person wants it to stop. */
  interrupt() {
    this.#send({ type: "interrupt" });
  }

  /** The model has made its last call: waits for all results, in call order. */
  async endTurn() {
    this.#send({ type: "turn_end" });
    return this.results();
  }

  async results() {
    const found = [];
    for (;;) {
      const event = await this.#next();
      if (event.type === "turn_end") return found;
      if (event.type === "tool_result") found.push(event);
    }
  }

  async close() {
    this.process.stdin.end();
    return new Promise((resolve) => this.process.on("exit", resolve));
  }

  #send(line) {
    this.process.stdin.write(JSON.stringify(line) + "\n");
  }

  async #next() {
    const { value, done } = await this.lines.next();
    if (done) throw new Error("toolbay has ended");
    const event = JSON.parse(value);
    this.onEvent(event);
    if (event.type === "permission_request") {
      const behavior = (await this.onPermission(event)) ? "allow" : "deny";
      this.#send({ type: "permission_response", request_id: event.request_id, behavior });
    }
    return event;
  }
}
