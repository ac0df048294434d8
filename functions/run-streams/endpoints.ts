import type { Endpoint } from '#shared/http/endpoint.ts'
import { forConsole, forIntegration } from './stream.ts'

export const endpoints: Endpoint[] = [forIntegration, forConsole]
