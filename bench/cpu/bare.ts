import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import type { Script } from './recorder.ts'

/** What a bare handler answers, and how it gets there. */
export interface BareRequest {
  event: APIGatewayProxyEvent
  script: Script
  /** The real answer's body, parsed. */
  answer: unknown
}

/**
 * A handler without a pipeline: it parses the body, sends the very commands that the real request sent, and writes the
 * same answer. No routing, no token, no checks, no logs.
 */
export const bareHandler = async ({ event, script, answer }: BareRequest): Promise<APIGatewayProxyResult> => {
  if (event.body !== null) parse(event.body, event.headers['content-type'] ?? '')
  for (const wave of script) await Promise.all(wave.map((send) => send()))
  return {
    statusCode: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(answer),
    isBase64Encoded: false,
  }
}

const parse = (body: string, contentType: string): unknown =>
  contentType.startsWith('application/json') ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body))
