import type { Endpoint } from '#shared/http/endpoint.ts'
import { invoke } from './invoke-tool.ts'

export const endpoints: Endpoint[] = [invoke]
