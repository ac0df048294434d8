import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, describe, expect } from 'vitest'
import { ROOT } from '#local/prepare.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { must } from '../e2e/support.ts'
import { usingLocal } from '../e2e/using-local.ts'
import { needing } from './needing.ts'

const run = promisify(execFile)
const running = usingLocal()
const place = scratchFolder('authenticators-')
const children: ChildProcess[] = []
afterAll(() => {
  for (const child of children) child.kill()
  place.remove()
})

const CARGO = `[package]
name = "authenticator"
version = "0.1.0"
edition = "2024"

[dependencies]
async-trait = "0.1"
passkey = "=0.6.0"
# As browsers write them.
passkey-types = { version = "=0.6.0", features = ["serialize_bytes_as_base64_string"] }
serde_json = "1"
tokio = { version = "1", features = ["macros", "rt-multi-thread"] }
url = "2"
`

/** Creates a folder with a language's program under the name that its tools expect. */
const folderWith = (program: string, to: string): string => {
  const folder = path.join(place.folder, program)
  mkdirSync(path.join(folder, path.dirname(to)), { recursive: true })
  cpSync(path.join(ROOT, 'test/generators/authenticators', program), path.join(folder, to))
  return folder
}

interface Begun {
  challenge_id: string
  options: object
}

/** Starts an authenticator. @returns a function that has it create or present its passkey */
const start = (program: string, args: readonly string[], cwd: string) => {
  const child = spawn(program, args, { cwd, stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(child)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return async (type: 'create' | 'get', { challenge_id, options }: Begun): Promise<object> => {
    const origin = running.baseUrl.replace('127.0.0.1', 'localhost')
    child.stdin.write(`${JSON.stringify({ type, origin, options })}\n`)
    const { value, done } = await lines.next()
    if (done) throw new Error(`The authenticator gave no answer to ${JSON.stringify(options)}.`)
    return { challenge_id, credential: JSON.parse(value) }
  }
}

let people = 0
/** Adds the authenticator's passkey to a person's account, and signs in with it twice. @returns who signed in */
const useWith = async (authenticator: ReturnType<typeof start>): Promise<void> => {
  const call = (method: string, at: string, body?: unknown, token?: string) =>
    must(running.baseUrl, method, at, { body, token })
  const ann = await call('POST', '/console/session', { user: `Ann ${++people}` })
  const asked = await call('POST', '/console/passkeys/options', undefined, ann.token)
  await call('POST', '/console/passkeys', { name: 'Key', ...(await authenticator('create', asked)) }, ann.token)
  for (let time = 0; time < 2; time++) {
    const begun = await call('POST', '/console/passkeys/sign-in/options')
    const { user } = await call('POST', '/console/passkeys/sign-in', await authenticator('get', begun))
    expect(user.id).toBe(ann.user.id)
  }
}

describe('a passkey is added, and signs in, from', () => {
  needing('go', 'virtualwebauthn in Go, with keys of ES256 and RS256', async () => {
    const folder = folderWith('main.go', 'main.go')
    writeFileSync(path.join(folder, 'go.mod'), 'module example.com/authenticator\n\ngo 1.24\n')
    const options = { cwd: folder, env: { ...process.env, GOFLAGS: '-mod=mod' } }
    await run('go', ['get', 'github.com/descope/virtualwebauthn@v1.0.3'], options)
    await run('go', ['build', '-o', 'authenticator', '.'], options)
    for (const key of ['ec2', 'rsa']) await useWith(start(path.join(folder, 'authenticator'), [key], folder))
  })

  needing('cargo', 'passkey in Rust', async () => {
    const folder = folderWith('main.rs', 'src/main.rs')
    writeFileSync(path.join(folder, 'Cargo.toml'), CARGO)
    await run('cargo', ['build', '--quiet'], { cwd: folder })
    await useWith(start('cargo', ['run', '--quiet'], folder))
  })

  needing('node', 'nid-webauthn-emulator of npm', async () => {
    const folder = folderWith('main.mjs', 'main.mjs')
    writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
    await run('npm', ['install', '--no-audit', '--no-fund', 'nid-webauthn-emulator@0.2.11'], { cwd: folder })
    await useWith(start('node', ['main.mjs'], folder))
  })
})
