/** E-mail in plain text. */
export interface MailMessage {
  to: string
  subject: string
  text: string
}

/** Sends e-mail to developers. */
export interface Mail {
  /** Sends one message. @throws if the provider didn't accept it */
  send(message: MailMessage): Promise<void>
}
