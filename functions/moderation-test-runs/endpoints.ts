import type { Endpoint } from '#shared/http/endpoint.ts'
import { testInstall } from './test-install.ts'

export const endpoints: Endpoint[] = [testInstall]
