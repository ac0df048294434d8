import type { Endpoint } from '#shared/http/endpoint.ts'
import { fileEndpoints } from './files.ts'

export const endpoints: Endpoint[] = fileEndpoints
