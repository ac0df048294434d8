/** What every console sign-in answers. */
export interface ConsoleSession {
  token: string
  expires_in: number
  user: { name: string }
  workspace: { id: string }
}

/** What `GET /console/bot/info` answers. */
export interface BotInfo {
  username: string | null
  url: string | null
  login_widget: boolean
}
