import type { Endpoint } from '#shared/http/endpoint.ts'
import { abuseReportEndpoints } from './abuse-reports.ts'
import { requestEndpoints } from './agent-requests.ts'
import { reviewEndpoints } from './reviews.ts'
import { verificationEndpoints } from './verifications.ts'

export const endpoints: Endpoint[] = [
  ...requestEndpoints,
  ...abuseReportEndpoints,
  ...verificationEndpoints,
  ...reviewEndpoints,
]
