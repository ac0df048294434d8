import type { Endpoint } from '#shared/http/endpoint.ts'
import { accountEndpoints } from './account.ts'
import { adminEndpoints } from './admins.ts'
import { appEndpoints } from './apps.ts'
import { keyEndpoints } from './keys.ts'
import { settingsEndpoints } from './settings.ts'

export const endpoints: Endpoint[] = [
  ...accountEndpoints,
  ...adminEndpoints,
  ...keyEndpoints,
  ...appEndpoints,
  ...settingsEndpoints,
]
