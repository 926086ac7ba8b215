//! A company's identity provider decides who may use which server (ID-JAG).
//!
//! Nobody logs in here: the identity provider turns an identity token of the user into a
//! grant for one server, and that server's authorisation server turns the grant into an
//! access token. Both are named in the configuration, never discovered: they are shown
//! secrets. Access tokens are kept in memory until they end; the next program asks again.

mod source;

use std::fmt;
use std::time::{Duration, Instant};

use oauth2::{ClientSecret, RefreshToken};
use rmcp::transport::auth::default_oauth_http_client;
use rmcp::transport::auth::enterprise::{
    EmaAuthorizationServer, EmaClientAuthentication, EmaError, EmaExchangeRequest, EmaExchangeStage,
};
use tokio::sync::Mutex;

use super::error::AuthError;
use super::http::choose_cryptography;
use super::secret::Secret;
use super::server::Server;
pub use source::{Environment, Source};

/// A token is exchanged anew this long before its end.
const MARGIN: Duration = Duration::from_secs(30);

/// A server that refuses a token so young will refuse the next one too.
const TOO_YOUNG: Duration = Duration::from_secs(10);

/// How this program proves who it is to one of the two.
#[derive(Debug, Clone)]
pub enum Proof {
    /// It does not; only where the other side permits it.
    None,
    /// In the header `Authorization`.
    Basic(Source),
    /// In the request itself.
    Post(Source),
}

/// One of the two that are asked, as the configuration names it.
#[derive(Debug, Clone)]
pub struct Authority {
    pub issuer: String,
    pub token_endpoint: String,
    pub client: String,
    pub proof: Proof,
}

/// What the identity provider knows the user by.
#[derive(Debug, Clone)]
pub enum Subject {
    IdToken(Source),
    RefreshToken(Source),
}

/// The configuration for one server.
#[derive(Debug, Clone)]
pub struct EnterpriseOptions {
    pub identity_provider: Authority,
    /// The server's own authorisation server.
    pub authorisation: Authority,
    pub subject: Subject,
    pub scopes: Vec<String>,
    /// What both call the server, if that is not its address.
    pub resource: Option<String>,
}

/// Access tokens by the grace of an identity provider.
pub struct Enterprise {
    options: EnterpriseOptions,
    environment: Environment,
    /// Held through an exchange: those who come meanwhile wait, and find its token.
    kept: Mutex<Option<Kept>>,
}

struct Kept {
    token: Secret,
    since: Instant,
    lifetime: Option<Duration>,
}

impl Kept {
    fn is_fresh(&self) -> bool {
        match self.lifetime {
            None => true,
            Some(lifetime) => self.since.elapsed() + MARGIN.min(lifetime / 5) < lifetime,
        }
    }
}

impl Enterprise {
    pub fn new(options: EnterpriseOptions, environment: Environment) -> Self {
        Self {
            options,
            environment,
            kept: Mutex::new(None),
        }
    }

    pub(super) async fn current(&self, server: &Server) -> Result<String, AuthError> {
        let mut kept = self.kept.lock().await;
        if let Some(kept) = kept.as_ref().filter(|kept| kept.is_fresh()) {
            return Ok(kept.token.reveal().to_owned());
        }
        self.exchange(server, &mut kept).await
    }

    /// Another token than the refused one; an error if that was fresh from the exchange.
    pub(super) async fn instead_of(
        &self,
        server: &Server,
        refused: &str,
    ) -> Result<String, AuthError> {
        let mut kept = self.kept.lock().await;
        if let Some(kept) = kept.as_ref() {
            let same = kept.token.reveal() == refused;
            if !same && kept.is_fresh() {
                return Ok(kept.token.reveal().to_owned());
            }
            if same && kept.since.elapsed() < TOO_YOUNG {
                return Err(AuthError::LoginNeeded(
                    "the server refuses the token that its authorisation server just gave"
                        .to_owned(),
                ));
            }
        }
        self.exchange(server, &mut kept).await
    }

    async fn exchange(
        &self,
        server: &Server,
        kept: &mut Option<Kept>,
    ) -> Result<String, AuthError> {
        *kept = None;
        let options = &self.options;
        let provider = self.authority(&options.identity_provider).await?;
        let authorisation = self.authority(&options.authorisation).await?;
        let resource = options.resource.as_deref().unwrap_or(server.url().as_str());
        let (refresh, id);
        let request = match &options.subject {
            Subject::RefreshToken(source) => {
                refresh = RefreshToken::new(self.fetch(source).await?.reveal().to_owned());
                EmaExchangeRequest::new(provider, authorisation, resource, &refresh)
            }
            Subject::IdToken(source) => {
                id = self.fetch(source).await?;
                let id = id.reveal();
                EmaExchangeRequest::new_with_id_token(provider, authorisation, resource, id)
            }
        };
        choose_cryptography();
        let http = default_oauth_http_client()
            .map_err(|error| AuthError::Setup(format!("no HTTP client: {error}")))?;
        let asked = Instant::now();
        let given = request
            .with_scopes(options.scopes.iter().cloned())
            .exchange(&http, &http)
            .await
            .map_err(explain)?;
        let token = given.access_token.secret().clone();
        *kept = Some(Kept {
            token: Secret::new(token.clone()),
            // From before the question: it may have been long on its way.
            since: asked,
            lifetime: given.expires_in,
        });
        Ok(token)
    }

    async fn authority(&self, authority: &Authority) -> Result<EmaAuthorizationServer, AuthError> {
        let secret = async |source| -> Result<ClientSecret, AuthError> {
            let secret: Secret = self.fetch(source).await?;
            Ok(ClientSecret::new(secret.reveal().to_owned()))
        };
        let proof = match &authority.proof {
            Proof::None => EmaClientAuthentication::None,
            Proof::Basic(source) => {
                EmaClientAuthentication::ClientSecretBasic(secret(source).await?)
            }
            Proof::Post(source) => EmaClientAuthentication::ClientSecretPost(secret(source).await?),
        };
        let server = EmaAuthorizationServer::new(
            &authority.issuer,
            &authority.token_endpoint,
            &authority.client,
        );
        Ok(server.with_client_authentication(proof))
    }

    async fn fetch(&self, source: &Source) -> Result<Secret, AuthError> {
        self.environment
            .fetch(source)
            .await
            .map_err(AuthError::Setup)
    }
}

impl fmt::Debug for Enterprise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Enterprise")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// The library's errors hold nothing that the other side wrote.
fn explain(error: EmaError) -> AuthError {
    let who = |stage| match stage {
        EmaExchangeStage::IdentityProvider => "the identity provider",
        EmaExchangeStage::ResourceAuthorizationServer => "the server's authorisation server",
        // Not exhaustive on their side.
        _ => "the other side",
    };
    match error {
        EmaError::InvalidGrant(stage @ EmaExchangeStage::IdentityProvider)
        | EmaError::InsufficientUserAuthentication(stage) => AuthError::LoginNeeded(format!(
            "{} wants a newer identity token of yours",
            who(stage)
        )),
        EmaError::InvalidGrant(stage) => {
            AuthError::Refused(format!("{} does not take the grant", who(stage)))
        }
        EmaError::RequestFailed(stage) => {
            AuthError::Unreachable(format!("{} could not be reached", who(stage)))
        }
        EmaError::OAuthRejected {
            stage,
            status,
            code,
        } => AuthError::Refused(format!("{} answered {status}: {code}", who(stage))),
        EmaError::InvalidResponse { stage, message } => {
            AuthError::Refused(format!("the answer of {} is wrong: {message}", who(stage)))
        }
        EmaError::InvalidRequest(reason) => AuthError::Setup(format!(
            "the configuration for the identity provider is wrong: {reason}"
        )),
        other => AuthError::Refused(other.to_string()),
    }
}
