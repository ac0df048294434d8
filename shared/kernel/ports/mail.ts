/** E-mail in plain text, and in HTML if the reader's program shows it. */
export interface MailMessage {
  to: string
  subject: string
  text: string
  html?: string | undefined
  /** Address that ends such e-mails by one POST request (RFC 8058). */
  unsubscribe?: string | undefined
}

/** Sends e-mail to developers and people. */
export interface Mail {
  /** Sends one message. @throws if the provider didn't accept it */
  send(message: MailMessage): Promise<void>
}
