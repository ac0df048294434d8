import type { RequestListener } from 'node:http'
import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import type { RequestHandler } from '#shared/http/pipeline.ts'

/** Stands where API Gateway stands: an event from each HTTP request, an HTTP answer from each result. */
export const gatewayOf =
  (handler: RequestHandler): RequestListener =>
  (request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', async () => {
      const headers = request.headers as Record<string, string>
      const event = {
        httpMethod: request.method,
        path: request.url,
        headers,
        multiValueHeaders: request.headersDistinct,
        multiValueQueryStringParameters: null,
        body: Buffer.concat(pieces).toString(),
        isBase64Encoded: false,
        requestContext: { identity: { sourceIp: request.socket.remoteAddress }, requestId: 'bench' },
      } as unknown as APIGatewayProxyEvent
      const result = await handler(event, {} as Context)
      const length = Buffer.byteLength(result.body)
      const answered = result.headers as Record<string, string>
      response.writeHead(result.statusCode, { ...answered, 'content-length': length }).end(result.body)
    })
  }
