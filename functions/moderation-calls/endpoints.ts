import type { Endpoint } from '#shared/http/endpoint.ts'
import { checks } from './checks.ts'

export const endpoints: Endpoint[] = [checks]
