import { spawn } from 'node:child_process'

/**
 * Opens an address in the browser, with the program in `BROWSER` if there is one. Never waits for it.
 * @returns false if no browser could be started
 */
export const openBrowser = (address: string, env: Record<string, string | undefined>): Promise<boolean> => {
  const [program, ...args] = env.BROWSER ? [env.BROWSER] : opener()
  const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true })
  return new Promise((resolve) => {
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}

const opener = (): [string, ...string[]] => {
  if (process.platform === 'darwin') return ['open']
  // `start` is a builtin that reads & in an address as a command's end.
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return ['xdg-open']
}
