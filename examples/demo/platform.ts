import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const ROOT = path.resolve(import.meta.dirname, '../..')

const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  probe.close()
  await once(probe, 'close')
  return port
}

/** Starts a platform with data of its own, which can be restarted. */
export const startPlatform = async () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'demo-'))
  const port = await freePort()
  const baseUrl = `http://127.0.0.1:${port}`
  let running: ChildProcess
  const start = async (): Promise<void> => {
    const args = ['local/start.ts', '--port', String(port), '--json']
    running = spawn(process.execPath, args, {
      cwd: ROOT,
      env: { ...process.env, DATA_DIR: dataDir },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    while (!(await isReady())) {
      if (running.exitCode !== null) throw new Error('The platform didn’t start.')
      await pause(200)
    }
  }
  const isReady = (): Promise<boolean> =>
    fetch(`${baseUrl}/oauth/scopes`).then(
      (response) => response.ok,
      () => false,
    )
  const stop = async (): Promise<void> => {
    if (running.exitCode !== null) return
    running.kill('SIGINT')
    await once(running, 'exit')
  }
  await start()
  return {
    baseUrl,
    async restart() {
      await stop()
      await start()
    },
    async stop() {
      await stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
