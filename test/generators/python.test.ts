import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from 'vitest'
import { newAgent, sandboxToken } from '../e2e/support.ts'
import { usingLocal } from '../e2e/using-local.ts'
import { environmentOf, removingEnvironments } from '../python/environment.ts'
import { servedDocument } from './document.ts'

const run = promisify(execFile)
const PACKAGES = [
  'openapi-python-client==0.29.1',
  'datamodel-code-generator==0.89.0',
  'httpx==0.28.1',
  'fastmcp==4.2.3',
]

const running = usingLocal()
let folder = ''
let python = ''
removingEnvironments()
beforeAll(async () => {
  ;({ folder, python } = await environmentOf('generators', PACKAGES))
  writeFileSync(path.join(folder, 'openapi.json'), servedDocument('integration', running.baseUrl))
})

/** Runs a program of the environment, which may call others of it. */
const program = (name: string, ...args: string[]) => {
  const bin = path.dirname(python)
  return run(path.join(bin, name), args, { cwd: folder, env: { ...process.env, PATH: `${bin}:${process.env.PATH}` } })
}

it('openapi-python-client has no warning, writes fewer than 300 models, and its client calls the API', async () => {
  const args = ['generate', '--path', 'openapi.json', '--output-path', 'client', '--meta', 'none']
  const { stdout, stderr } = await program('openapi-python-client', ...args)
  expect(stdout + stderr).not.toMatch(/warning|error|unable/i)
  const models = readdirSync(path.join(folder, 'client/models')).filter((name) => name.endsWith('.py'))
  expect(models.length).toBeLessThan(300)
  const agent = await newAgent(running.baseUrl, { endpoint: 'http://127.0.0.1:9/run' })
  const token = await sandboxToken(running.baseUrl, agent)
  const code = `
import importlib, pkgutil, sys
import client
for module in pkgutil.walk_packages(client.__path__, "client."):
    importlib.import_module(module.name)
base, token = sys.argv[1:]
found = [name for name in sys.modules if name.endswith(".api_me_read")]
answer = sys.modules[found[0]].sync(client=client.AuthenticatedClient(base_url=base, token=token))
print(answer.installation.status)
`
  const { stdout: told } = await run(python, ['-c', code, running.baseUrl, token], { cwd: folder })
  expect(told.trim()).toMatch(/active$/i)
})

it('datamodel-code-generator numbers no model', async () => {
  const output = ['--output', 'models.py', '--output-model-type', 'pydantic_v2.BaseModel', '--formatters', 'builtin']
  await program('datamodel-codegen', '--input', 'openapi.json', '--input-file-type', 'openapi', ...output)
  const classes = [...readFileSync(path.join(folder, 'models.py'), 'utf8').matchAll(/^class (\w+)\(/gm)]
  expect(classes.length).toBeGreaterThan(50)
  expect(classes.map(([, name]) => name).filter((name) => /\d$/.test(name ?? ''))).toEqual([])
  await run(python, ['-m', 'compileall', '-q', 'models.py'], { cwd: folder })
})

it('FastMCP makes a tool of each of the thirty essential operations, and calls one', async () => {
  writeFileSync(path.join(folder, 'essentials.json'), servedDocument('essentials', running.baseUrl))
  const agent = await newAgent(running.baseUrl, { endpoint: 'http://127.0.0.1:9/run' })
  const code = `
import asyncio, json, sys
import httpx2
from fastmcp import Client, FastMCP

base, token = sys.argv[1:]

async def main():
    api = httpx2.AsyncClient(base_url=base, headers={"authorization": f"Bearer {token}"}, timeout=60)
    server = FastMCP.from_openapi(openapi_spec=json.load(open("essentials.json")), client=api)
    async with Client(server) as client:
        me = await client.call_tool("api_me_read", {})
        print(len(await client.list_tools()), me.structured_content["installation"]["status"])

asyncio.run(main())
`
  const token = await sandboxToken(running.baseUrl, agent)
  const { stdout } = await run(python, ['-W', 'ignore', '-c', code, running.baseUrl, token], { cwd: folder })
  expect(stdout.trim()).toBe('30 active')
})
