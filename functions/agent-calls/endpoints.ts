import type { Endpoint } from '#shared/http/endpoint.ts'
import { invoke } from './invoke-tool.ts'
import { testRun } from './test-run.ts'

export const endpoints: Endpoint[] = [testRun, invoke]
