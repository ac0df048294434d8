import { admin } from '#shared/http/authenticate/admin.ts'
import { serveCalling } from '#shared/http/serve-calling.ts'
import { endpoints } from './endpoints.ts'

export const handler = serveCalling(endpoints, { admin })
