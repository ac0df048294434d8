import { consoleUser } from '#shared/http/authenticate/console.ts'
import { serveWithBotApi } from '#shared/http/serve-bot-api.ts'
import { endpoints } from './endpoints.ts'

export const handler = serveWithBotApi(endpoints, { console: consoleUser })
