// Why a token is not accepted. In a file of their own: only servers whose config names an issuer load what verifies tokens.

/** A rejected token. The message is for its sender and contains nothing of the token. */
export class TokenRejected extends Error {
  override readonly name = "TokenRejected";
}

/** The issuer's keys cannot be fetched: not the client's fault. */
export class IssuerUnavailable extends Error {
  override readonly name = "IssuerUnavailable";
}
