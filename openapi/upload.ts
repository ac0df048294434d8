import type { DocumentName } from '#shared/http/documents.ts'
import type { Json } from './schemas.ts'

/** Documents whose operations create files that are uploaded in a second request. */
export const WITH_UPLOAD: readonly DocumentName[] = ['openapi', 'integration']

/** Path of an object in the bucket, and of the operation that stores it. */
export const UPLOAD_PATH = '/files/{workspace_id}/{file_id}'

const parameter = (name: string, place: 'path' | 'query' | 'header', example: string, required = true): Json => ({
  name,
  in: place,
  required,
  schema: { type: 'string', examples: [example] },
})

/** Query of a signed address (Signature Version 4). */
const SIGNATURE: readonly Json[] = [
  parameter('X-Amz-Algorithm', 'query', 'AWS4-HMAC-SHA256'),
  parameter('X-Amz-Content-Sha256', 'query', 'UNSIGNED-PAYLOAD'),
  parameter('X-Amz-Credential', 'query', 'ASIAEXAMPLE/20261121/eu-central-1/s3/aws4_request'),
  parameter('X-Amz-Date', 'query', '20261121T101530Z'),
  parameter('X-Amz-Expires', 'query', '900'),
  parameter('X-Amz-Security-Token', 'query', 'IQoJb3JpZ2luX2VjE…', false),
  parameter('X-Amz-Signature', 'query', '5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd'),
  parameter('X-Amz-SignedHeaders', 'query', 'content-length;content-type;host;if-none-match'),
]

/** Describes the second request of an upload, which goes to the bucket, so that generated clients can send it. */
export const uploadOperation = (tag: string): Json => ({
  operationId: 'upload.content',
  tags: [tag],
  summary: 'Upload the content of a file',
  description:
    'The second step of an upload. The server, path and query are those of `upload.url` in the response that created the ' +
    'file, and the headers those of `upload.headers`. Send exactly `size` bytes, and no credential.',
  servers: [
    {
      url: '{address}',
      description: 'The part of `upload.url` before `/files/`.',
      variables: { address: { default: 'https://bucket.s3.eu-central-1.amazonaws.com' } },
    },
  ],
  security: [],
  parameters: [
    parameter('workspace_id', 'path', 'ws_01kae5m1v8w6c3x9q2r7t4y0zn'),
    parameter('file_id', 'path', 'fil_01kae5m1v8w6c3x9q2r7t4y0zn'),
    ...SIGNATURE,
    parameter('If-None-Match', 'header', '*'),
  ],
  requestBody: {
    required: true,
    description: 'The content. `Content-Type` is the file’s type.',
    content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' }, example: 'name,phone' } },
  },
  responses: {
    200: { description: 'The content is stored. Read the file to see it `ready`.' },
    '4XX': { $ref: '#/components/responses/UploadRefused' },
    default: { $ref: '#/components/responses/UploadRefused' },
  },
})

/** Answers of the bucket, which aren't the platform's errors. */
export const UPLOAD_RESPONSES: Record<string, Json> = {
  UploadRefused: {
    description:
      '403: the address has expired, or length, type or headers aren’t those announced. 412: the content was uploaded before. ' +
      'The body is XML of the bucket.',
  },
}
