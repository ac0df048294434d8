import { serveWithBot } from '#shared/http/serve-bot.ts'
import { endpoints } from './endpoints.ts'

export const handler = serveWithBot(endpoints)
