import type { Endpoint } from '#shared/http/endpoint.ts'
import { abuseReportEndpoints } from './abuse-reports.ts'
import { requestEndpoints } from './agent-requests.ts'

export const endpoints: Endpoint[] = [...requestEndpoints, ...abuseReportEndpoints]
