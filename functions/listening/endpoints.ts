import type { Endpoint } from '#shared/http/endpoint.ts'
import { answer } from './answer.ts'
import { trigger } from './trigger.ts'

export const endpoints: Endpoint[] = [answer, trigger]
