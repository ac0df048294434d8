import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import { createAddressCheck } from '../adapters/outgoing-http/check-only.ts'
import { SECOND } from '../kernel/clock.ts'
import type { Authenticators } from './authenticate/types.ts'
import { type CreateHttp, composeOnce } from './compose.ts'
import type { Endpoint } from './endpoint.ts'
import { createPipeline, type RequestHandler } from './pipeline.ts'
import { buffered, isStreamed, type StreamedResult } from './streamed.ts'

/** What the Lambda runtime provides for streamed answers. */
declare const awslambda: {
  streamifyResponse(
    handler: (event: APIGatewayProxyEvent, stream: Writable, context: Context) => Promise<void>,
  ): RequestHandler
  HttpResponseStream: {
    from(stream: Writable, prelude: { statusCode: number; headers: Record<string, string> }): Writable
  }
}

/**
 * The handler of endpoints that wait on an agent, a receiver or a run: longer than the gateway's 29 seconds, so their answers are
 * streamed (design §5). Where streaming is off (emulators), the same answers go out buffered.
 * @param createHttp the way out, for functions that send something themselves
 */
export const serveWaiting = (
  endpoints: readonly Endpoint[],
  authenticators: Authenticators,
  createHttp: CreateHttp = createAddressCheck,
  mode = process.env.RESPONSE_MODE,
): RequestHandler => {
  const handle = createPipeline(endpoints, authenticators, async () => composeOnce(createHttp))
  if (mode !== 'stream') return buffered(handle)
  return awslambda.streamifyResponse(async (event, stream, context) => {
    const result = await handle(event, context)
    const { statusCode, headers, body, isBase64Encoded } = result
    const answer = awslambda.HttpResponseStream.from(stream, {
      statusCode,
      headers: (headers ?? {}) as Record<string, string>,
    })
    if (isStreamed(result)) return send(result, answer, context)
    answer.write(isBase64Encoded ? Buffer.from(body, 'base64') : body)
    answer.end()
  })
}

/** A stream ends by itself this long before its function would be ended in the middle of a line. */
const BEFORE_TIMEOUT = 10 * SECOND

/** Writes the pieces as they come, as fast as they are taken. */
const send = async ({ pieces }: StreamedResult, answer: Writable, context: Context): Promise<void> => {
  const gone = new AbortController()
  answer.once('close', () => gone.abort())
  const time = AbortSignal.timeout(Math.max(0, context.getRemainingTimeInMillis() - BEFORE_TIMEOUT))
  try {
    await pipeline(Readable.from(pieces(AbortSignal.any([gone.signal, time])), { highWaterMark: 1 }), answer)
  } catch (error) {
    // Whoever listened is gone, which is how most streams end.
    if (!gone.signal.aborted) throw error
  }
}
