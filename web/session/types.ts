/** Response of every console sign-in. */
export interface ConsoleSession {
  token: string
  expires_in: number
  user: { name: string }
  workspace: { id: string }
}

/** Response of `GET /console/bot/info`. */
export interface BotInfo {
  username: string | null
  url: string | null
  login_widget: boolean
}
