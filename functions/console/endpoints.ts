import type { Endpoint } from '#shared/http/endpoint.ts'
import { agentRuleEndpoints } from './agent-rules.ts'
import { grantEndpoints } from './grants.ts'
import * as runs from './runs.ts'
import { issueForSurface } from './surface-token.ts'
import { taskEndpoints } from './tasks.ts'

export const endpoints: Endpoint[] = [
  issueForSurface,
  ...grantEndpoints,
  ...agentRuleEndpoints,
  ...Object.values(runs),
  ...taskEndpoints,
]
