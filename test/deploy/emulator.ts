import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdtemp, open, readFile, writeFile } from 'node:fs/promises'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { generate } from 'selfsigned'
import { freePort } from './shell.ts'

export type Emulator = {
  /** Endpoint for all AWS services. */
  endpoint: URL
  /** TLS certificate of the endpoint. */
  certificate: string
  /** Environment that connects the AWS SDK and the CDK's CLI to the emulator, and to nothing else. */
  env: NodeJS.ProcessEnv
  /** Temporary directory, removed when the emulator stops. */
  directory: string
  /** Returns the last lines of the log. */
  tail(lines: number): Promise<string>
  stop(): Promise<void>
}

export const ACCOUNT = '000000000000'
export const REGION = 'us-east-1'

/**
 * Starts MiniStack on a free port with two features that are off by default. It checks every call against the policies
 * of the caller's role, and it speaks TLS, which the policies of buckets and queues demand. Its functions inherit its
 * environment, so it gets only the variables that it needs.
 * @param command The path of the emulator's command.
 */
export async function startEmulator(command: string): Promise<Emulator> {
  const directory = await mkdtemp(join(tmpdir(), 'deploy-'))
  const port = await freePort()
  const endpoint = new URL(`https://127.0.0.1:${port}`)
  const { certificate, certificatePath, keyPath } = await writeCertificate(directory)
  const env: NodeJS.ProcessEnv = {
    // Functions run on the current Node.js, whose major version is Lambda's.
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    HOME: directory,
    TMPDIR: directory,
    LANG: 'C.UTF-8',
    AWS_ENDPOINT_URL: endpoint.origin,
    AWS_ENDPOINT_URL_S3: endpoint.origin,
    NODE_EXTRA_CA_CERTS: certificatePath,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: REGION,
    AWS_DEFAULT_REGION: REGION,
  }
  const logPath = join(directory, 'emulator.log')
  const log = await open(logPath, 'w')
  const child = spawn(command, [], {
    cwd: directory,
    // In its own process group, so that stopping it reaches the workers that it starts.
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    env: {
      ...env,
      GATEWAY_PORT: String(port),
      BIND_HOST: '127.0.0.1',
      AUTH: 'true',
      USE_SSL: '1',
      MINISTACK_SSL_CERT: certificatePath,
      MINISTACK_SSL_KEY: keyPath,
      LAMBDA_EXECUTOR: 'local',
      IOT_MTLS_ENABLED: '0',
      NODE_OPTIONS: `--require ${fileURLToPath(new URL('cjs-modules.cjs', import.meta.url))}`,
    },
  })
  const abandon = () => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGKILL')
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  }
  // If this process ends early, the emulator ends with it.
  process.once('exit', abandon)
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
  const tail = async (lines: number) => (await readFile(logPath, 'utf8')).trimEnd().split('\n').slice(-lines).join('\n')
  const stop = async () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM')
    const stopped = await Promise.race([ended.then(() => true), wait(5_000, false, { ref: false })])
    if (!stopped && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    await log.close()
    process.off('exit', abandon)
    abandon()
  }

  for (let tries = 0; tries < 150; tries += 1) {
    if (await answers(endpoint, certificate)) return { endpoint, certificate, env, directory, tail, stop }
    if (child.exitCode !== null || child.pid === undefined) break
    await wait(200)
  }
  const end = await tail(20)
  await stop()
  throw new Error(`The emulator did not start:\n${end}`)
}

/** Generates a certificate for the loopback address, and writes it and its key to files. */
async function writeCertificate(directory: string) {
  const { cert: certificate, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  })
  const certificatePath = join(directory, 'certificate.pem')
  const keyPath = join(directory, 'key.pem')
  await writeFile(certificatePath, certificate)
  await writeFile(keyPath, key)
  return { certificate, certificatePath, keyPath }
}

const answers = (endpoint: URL, ca: string): Promise<boolean> =>
  new Promise((resolve) => {
    get(new URL('/_ministack/health', endpoint), { ca }, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    }).on('error', () => resolve(false))
  })
