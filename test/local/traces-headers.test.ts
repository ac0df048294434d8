import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { expect, it, test } from 'vitest'
import { ROOT } from '#local/prepare.ts'
import { parseTracesHeaders } from '#local/traces/headers.ts'
import { usingReceiver } from '#testkit/using.ts'
import { until } from '../e2e/support.ts'
import { usingOwnLocal } from '../e2e/using-local.ts'

const receiver = usingReceiver({ kind: 'answer', headers: { 'content-type': 'application/x-protobuf' } })
let headers = 'x-mlflow-experiment-id=0, x-api-key=a%2Cb%3D'
const running = usingOwnLocal(() => ({
  shell: { TRACES_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_HEADERS: headers },
}))

const sentHeaders = async () => {
  receiver.requests.splice(0)
  await fetch(`${running.baseUrl}/api/v1/me`)
  return (await until(() => receiver.requests[0])).headers
}

it('functions of the local run send spans with the headers of the shell, and after a restart with its new ones', async () => {
  expect(await sentHeaders()).toMatchObject({ 'x-mlflow-experiment-id': '0', 'x-api-key': 'a,b=' })
  await running.stop()
  headers = 'x-api-key=other'
  await running.startAgain()
  expect(await sentHeaders()).toMatchObject({ 'x-api-key': 'other' })
  expect(receiver.requests[0]?.headers).not.toHaveProperty('x-mlflow-experiment-id')
})

test.each([
  ['authorization=Basic%20YTpi', { authorization: 'Basic YTpi' }],
  ['authorization=Basic YTpi==', { authorization: 'Basic YTpi==' }],
  [' a = 1 ,, b=,', { a: '1', b: '' }],
])('headers for the receiver of traces, given as %j', (text, expected) => {
  expect(parseTracesHeaders(text)).toEqual(expected)
})

test.each(['a=1,secret', 'a=1,=secret', 'a=1,b c=secret', 'a=1,b=%zzsecret', 'a=1,b=secret%0A', 'a=1,b=secrét'])(
  'the entry of %j that is no header is refused by its number, without its value',
  (text) => {
    const parse = () => parseTracesHeaders(text)
    expect(parse).toThrow('OTEL_EXPORTER_OTLP_HEADERS: entry 2 of 2 is not a header. Give name=value')
    expect(parse).not.toThrow('secr')
  },
)

it('npm start refuses malformed headers in one line', () => {
  const { status, stderr } = spawnSync(process.execPath, [path.join(ROOT, 'local/start.ts'), '--port', '0'], {
    encoding: 'utf8',
    env: {
      ...process.env,
      // Vitest sets it to the path of its own pages.
      BASE_URL: '',
      TRACES_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_HEADERS: 'secret',
    },
  })
  expect(status).toBe(1)
  expect(stderr).toMatch(/^OTEL_EXPORTER_OTLP_HEADERS: entry 1 of 1 is not a header\. [^\n]+\n$/)
})
