import type { Endpoint } from '#shared/http/endpoint.ts'
import { end, listen } from './listen.ts'

export const endpoints: Endpoint[] = [listen, end]
