import { Hash } from '@smithy/core/serde'
import { HttpRequest } from '@smithy/core/transport'
import { SignatureV4 } from '@smithy/signature-v4'
import { expect, it } from 'vitest'
import { DaySigner } from '#shared/kernel/aws-signature.ts'

const ROLE = { accessKeyId: 'ASIAROLE', secretAccessKey: 'secret', sessionToken: 'a/session+token==' }
const USER = { accessKeyId: 'AKIDUSER', secretAccessKey: 'another' }

it('a request’s signature is the one that the SDK’s signer makes, also on the next day and for other credentials', async () => {
  const body = '{"name":"ü"}'
  const headers = {
    host: 'sqs.eu-central-1.amazonaws.com',
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': 'AmazonSQS.SendMessage',
  }
  for (const credentials of [ROLE, USER]) {
    const options = { service: 'sqs', region: 'eu-central-1', credentials: async () => credentials }
    const theirs = new SignatureV4({ ...options, applyChecksum: false, sha256: Hash.bind(null, 'sha256') })
    for (const day of ['2026-11-27T23:59:59.900Z', '2026-11-28T00:00:00Z']) {
      const signingDate = new Date(day)
      const request = new HttpRequest({ method: 'POST', path: '/', headers, body })
      const { headers: expected } = await theirs.sign(request, { signingDate })
      const own = await new DaySigner(options).sign(HttpRequest.clone(request), { signingDate })
      expect(own.headers).toEqual(expected)
    }
  }
})
