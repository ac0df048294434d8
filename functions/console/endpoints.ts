import type { Endpoint } from '#shared/http/endpoint.ts'
import { installationEndpoints } from './installations.ts'
import * as runs from './runs.ts'
import { sessionEndpoints } from './session.ts'

export const endpoints: Endpoint[] = [...sessionEndpoints, ...installationEndpoints, ...Object.values(runs)]
