/** What somebody did, or was refused, that concerns access to the installation. Ids and addresses, no secret, no text of people. */
export interface AuditEntry {
  /** The operation of the API, the form of the website as `POST /sign-in`, or the command as `admin suspend-user`. */
  action: string
  outcome: 'done' | 'refused'
  /** Why it was refused: the code of the error. */
  code?: string | undefined
  actor: {
    userId?: string | undefined
    sessionId?: string | undefined
    apiKeyId?: string | undefined
    /** The agent that acted for the person. */
    grantId?: string | undefined
    /** The account of the operating system that ran a command. */
    systemUser?: string | undefined
  }
  /** What it was about, by the names of the path or of the options, such as `slug`, `userId` or `email`. */
  target: Record<string, string>
  /** The address of the client. */
  address?: string | undefined
  requestId?: string | undefined
  /** How many refusals of the address the line stands for, beside those with a line each. */
  count?: number | undefined
}

/** Writes down what concerns access to the installation. */
export interface AuditLog {
  record(entry: AuditEntry): void
}
