import type { Endpoint } from '#shared/http/endpoint.ts'
import { abuseReportEndpoints } from './abuse-reports.ts'
import { agentRequestEndpoints } from './agent-requests.ts'

export const endpoints: Endpoint[] = [...agentRequestEndpoints, ...abuseReportEndpoints]
