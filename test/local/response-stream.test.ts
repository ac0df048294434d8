import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createFunctions, type Functions } from '#local/functions.ts'
import { temporaryFolder } from './support.ts'

let place: ReturnType<typeof temporaryFolder>
let functions: Functions | undefined
let lines: string[] = []
beforeEach(() => {
  place = temporaryFolder()
  lines = []
})
afterEach(async () => {
  await functions?.stop()
  place.remove()
})

/** Runs a streaming handler with this body. @returns its response's text and type, or its error */
const run = async (body: string, start = 'async (event, stream) =>') => {
  const directory = path.join(place.folder, 'f')
  mkdirSync(directory)
  writeFileSync(
    path.join(directory, 'index.cjs'),
    `exports.handler = awslambda.streamifyResponse(${start} {
      const from = (prelude) => awslambda.HttpResponseStream.from(stream, prelude)
      ${body}
    })`,
  )
  const ids = { name: 'f', logicalId: 'f', functionName: 'f', arn: 'f' }
  const model = { ...ids, directory, handler: 'index.handler', timeoutSeconds: 30, memoryMb: 128, environment: {} }
  functions = createFunctions({ models: [model], environment: () => ({}), onLine: ({ line }) => lines.push(line) })
  const result = await functions.invoke('f', {})
  if (result.kind !== 'stream') return result
  return { contentType: result.contentType, body: (await text(result.body)).replace('\0'.repeat(8), '|') }
}

const HTTP = 'application/vnd.awslambda.http-integration-response'

describe('a response stream refuses, as Lambda’s runtime client does,', () => {
  test.each([
    ['a content type after the first write', 'setContentType("text/plain")'],
    ['a prelude after the first write', 'from({})'],
  ])('%s', async (_name, late) => {
    const call = late.startsWith('from') ? late : `stream.${late}`
    const answer = await run(
      `stream.write('a'); try { ${call} } catch (error) { stream.write(String(error)) } stream.end()`,
    )
    expect(answer).toEqual({
      contentType: 'application/octet-stream',
      body: 'aRuntime.InvalidStreamingOperation: Cannot set content-type, too late.',
    })
  })

  test.each(['null', 'undefined'])('to write %s', async (value) => {
    expect(await run(`stream.write(${value})`)).toMatchObject({ kind: 'error', error: { errorType: 'TypeError' } })
  })

  test('a handler that returns no promise', async () => {
    expect(await run('stream.end()', '(event, stream) =>')).toMatchObject({
      kind: 'error',
      error: { errorMessage: 'Streaming does not support non-async handlers.' },
    })
  })

  test('a write after the end', async () => {
    expect(await run('stream.end(); stream.write("late")')).toMatchObject({
      kind: 'error',
      error: { errorMessage: 'write after end' },
    })
  })
})

test('a prelude precedes the first write, even an empty one', async () => {
  expect(await run('from({ statusCode: 204 }); stream.write(""); stream.end()')).toEqual({
    contentType: HTTP,
    body: '{"statusCode":204}|',
  })
})

test('a stream that is only ended sends no prelude, even with a last chunk', async () => {
  expect(await run('from({ statusCode: 200 }); stream.end("whole")')).toEqual({ contentType: HTTP, body: 'whole' })
})

test('what is neither text nor bytes is written as JSON', async () => {
  expect(await run('stream.write({ a: 1 }); stream.write(Uint8Array.of(33)); stream.end()')).toMatchObject({
    body: '{"a":1}!',
  })
})

test('the stream has the members that it has on Lambda, and can be the end of a pipeline', async () => {
  const answer = await run(`
    stream.write(JSON.stringify([stream.closed, stream.errored, typeof stream._write, stream.writable, stream.destroyed]))
    await require('node:stream/promises').pipeline(require('node:stream').Readable.from(['a', 'b']), stream)`)
  expect(answer).toMatchObject({ body: '[null,null,"undefined",true,false]ab' })
})

test('a returned value is ignored with a warning', async () => {
  expect(await run('stream.write("a"); stream.end(); return "b"')).toMatchObject({ body: 'a' })
  expect(lines).toContain('Streaming handlers ignore return values.')
})
