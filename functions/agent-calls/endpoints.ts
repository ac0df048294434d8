import type { Endpoint } from '#shared/http/endpoint.ts'
import { testRun } from './test-run.ts'
import { test as testWebhook } from './test-webhook.ts'

export const endpoints: Endpoint[] = [testRun, testWebhook]
