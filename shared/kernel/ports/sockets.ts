/** Live connections to open pages. */
export interface Sockets {
  /**
   * Sends a message.
   * @returns `gone` if the connection has ended
   * @throws if the message can't be delivered now
   */
  send(connectionId: string, message: string): Promise<'sent' | 'gone'>
  /** Closes a connection. Does nothing if it has ended. */
  close(connectionId: string): Promise<void>
}
