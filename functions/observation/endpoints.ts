import type { Endpoint } from '#shared/http/endpoint.ts'
import { figureEndpoints } from './figures.ts'
import { healthEndpoints } from './health.ts'
import { runEndpoints } from './runs.ts'

export const endpoints: Endpoint[] = [...figureEndpoints, ...runEndpoints, ...healthEndpoints]
