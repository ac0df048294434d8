import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { listPublicKeys } from '#shared/foundation/signing-keys/publish.ts'
import { createWorkerWork } from '#shared/http/worker.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { signReceipt } from '#shared/work/receipts/sign.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { blocksOf } from '../e2e/guide-blocks.ts'
import { environmentOf, removingEnvironments } from '../python/environment.ts'
import { needing } from './needing.ts'

const run = promisify(execFile)
const platform = usingPlatform()
const place = scratchFolder('receipts-')
afterAll(() => place.remove())
removingEnvironments()

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>example</groupId>
  <artifactId>receipt</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source>
    <maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>
      <groupId>com.nimbusds</groupId>
      <artifactId>nimbus-jose-jwt</artifactId>
      <version>10.10</version>
    </dependency>
  </dependencies>
</project>
`
const CARGO = `[package]
name = "receipt"
version = "0.1.0"
edition = "2024"

[dependencies]
jsonwebtoken = { version = "=12.0.0", features = ["rust_crypto"] }
serde_json = "1"
`

const save = (name: string, text: string): string => {
  const file = path.join(place.folder, name)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

/** Writes the guide's program in a language. */
const saveProgram = (language: string, name: string): string => {
  const block = blocksOf('receipts').find((one) => one.language === language)
  return save(name, `${block?.code}\n`)
}

let files: Record<'receipt' | 'changed' | 'spareBits' | 'padded', string>
let keys = ''

beforeAll(async () => {
  const work = createWorkerWork(platform.deps)
  const { text } = await signReceipt(work, {
    sub: 'usr_1',
    sid: 'ses_1',
    workspace_id: 'ws_1',
    app_id: 'app_1',
    installation_id: 'ins_1',
    run_id: 'run_1',
    step_id: 'stp_1',
    tool: 'http_fetch',
    arguments_sha256: sha256('{}'),
    policy_version: sha256(''),
    decision: 'approved',
  })
  keys = save('keys.json', JSON.stringify({ keys: await listPublicKeys(work, 'receipts') }))
  const middle = Math.floor(text.length / 2)
  const spare = String.fromCharCode(text.charCodeAt(text.length - 1) + 1)
  files = {
    receipt: save('receipt.txt', `${text}\n`),
    changed: save('changed.txt', text.slice(0, middle) + (text[middle] === 'a' ? 'b' : 'a') + text.slice(middle + 1)),
    spareBits: save('spare.txt', text.slice(0, -1) + spare),
    padded: save('padded.txt', `${text}=`),
  }
})

/** Runs a program with each of the files, and with another issuer. @returns what it accepted */
const acceptedBy = async (program: string, ...args: string[]): Promise<string[]> => {
  const cases = [
    ...Object.entries(files).map(([name, file]) => [name, file, 'https://platform.test'] as const),
    ['another issuer', files.receipt, 'https://other.test'] as const,
  ]
  const accepted: string[] = []
  for (const [name, file, issuer] of cases) {
    const printed = await run(program, [...args, file, keys, issuer]).catch(() => undefined)
    if (printed) accepted.push(`${name}: ${printed.stdout.replaceAll('"', '').trim()}`)
  }
  return accepted
}

const RIGHT = [`receipt: usr_1 approved http_fetch with arguments ${sha256('{}')}`]

describe('the guide’s program verifies a receipt, and refuses it changed, in a second text or of another issuer', () => {
  needing('python3', 'in Python with PyJWT', async () => {
    const { python } = await environmentOf('receipts', ['pyjwt[crypto]==2.15.1'])
    expect(await acceptedBy(python, saveProgram('python', 'verify.py'))).toEqual(RIGHT)
  })

  needing('go', 'in Go with golang-jwt', async () => {
    saveProgram('go', 'go/main.go')
    save('go/go.mod', 'module example.com/receipt\n\ngo 1.24\n')
    const options = { cwd: path.join(place.folder, 'go'), env: { ...process.env, GOFLAGS: '-mod=mod' } }
    await run('go', ['get', 'github.com/golang-jwt/jwt/v5@v5.3.1', 'github.com/MicahParks/keyfunc/v3@v3.9.2'], options)
    await run('go', ['build', '-o', 'receipt', '.'], options)
    expect(await acceptedBy(path.join(options.cwd, 'receipt'))).toEqual(RIGHT)
  })

  needing('mvn', 'in Java with Nimbus', async () => {
    saveProgram('java', 'java/src/main/java/Receipt.java')
    save('java/pom.xml', POM)
    const cwd = path.join(place.folder, 'java')
    const copy = 'org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy-dependencies'
    await run('mvn', ['--batch-mode', '--quiet', 'compile', copy], { cwd })
    const classes = `${path.join(cwd, 'target/classes')}:${path.join(cwd, 'target/dependency/*')}`
    expect(await acceptedBy('java', '-cp', classes, 'Receipt')).toEqual(RIGHT)
  })

  needing('cargo', 'in Rust with jsonwebtoken', async () => {
    saveProgram('rust', 'rust/src/main.rs')
    save('rust/Cargo.toml', CARGO)
    const cwd = path.join(place.folder, 'rust')
    await run('cargo', ['build', '--quiet'], { cwd })
    expect(await acceptedBy(path.join(cwd, 'target/debug/receipt'))).toEqual(RIGHT)
  })
})
