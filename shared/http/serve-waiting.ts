import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import { createOutgoingHttp } from '../adapters/outgoing-http/client.ts'
import type { Authenticators } from './authenticate/types.ts'
import { composeOnce } from './compose.ts'
import type { Endpoint } from './endpoint.ts'
import { createPipeline, type RequestHandler } from './pipeline.ts'

interface ResponseStream {
  write(chunk: string | Uint8Array): void
  end(): void
}

/** What the Lambda runtime provides for streamed answers. */
declare const awslambda: {
  streamifyResponse(
    handler: (event: APIGatewayProxyEvent, stream: ResponseStream, context: Context) => Promise<void>,
  ): RequestHandler
  HttpResponseStream: {
    from(stream: ResponseStream, prelude: { statusCode: number; headers: Record<string, string> }): ResponseStream
  }
}

/**
 * The handler of endpoints that wait on an agent or a receiver: longer than the gateway's 29 seconds, so their answers are streamed
 * (design §5). Where streaming is off (emulators), the same answers go out buffered.
 */
export const serveWaiting = (
  endpoints: readonly Endpoint[],
  authenticators: Authenticators,
  mode = process.env.RESPONSE_MODE,
): RequestHandler => {
  const handle = createPipeline(endpoints, authenticators, async () => composeOnce(createOutgoingHttp))
  if (mode !== 'stream') return handle
  return awslambda.streamifyResponse(async (event, stream, context) => {
    const { statusCode, headers, body, isBase64Encoded } = await handle(event, context)
    const answer = awslambda.HttpResponseStream.from(stream, {
      statusCode,
      headers: (headers ?? {}) as Record<string, string>,
    })
    answer.write(isBase64Encoded ? Buffer.from(body, 'base64') : body)
    answer.end()
  })
}
