import type { Endpoint } from '#shared/http/endpoint.ts'
import { messageEndpoints } from './messages.ts'
import { requestEndpoints } from './requests.ts'
import { reviewEndpoints } from './reviews.ts'
import { seedEndpoints } from './sandbox-seed.ts'
import { statisticsEndpoints } from './statistics.ts'
import { verificationEndpoints } from './verification.ts'

export const endpoints: Endpoint[] = [
  ...seedEndpoints,
  ...verificationEndpoints,
  ...messageEndpoints,
  ...requestEndpoints,
  ...reviewEndpoints,
  ...statisticsEndpoints,
]
