import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import type { Script } from './recorder.ts'

/** Input of a bare handler. */
export interface BareRequest {
  event: APIGatewayProxyEvent
  script: Script
  /** Parsed body of the real answer. */
  answer: unknown
}

/**
 * Handles a request without a pipeline: parses the body, sends the same commands as the real request, and writes the same answer.
 * It has no routing, tokens, checks or logs.
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
