import { signal } from '@preact/signals'

export type Method = 'passkey' | 'password'

/** Confirmation that a request waits for. `finish` gets false if the admin cancels. */
export const asked = signal<{ method: Method; finish: (confirmed: boolean) => void } | undefined>(undefined)

let requirePasskey = (): void => {}

/** Registers a callback for when the platform asks the account for a first passkey. */
export const onPasskeyRequired = (callback: () => void): void => {
  requirePasskey = callback
}

/** Requests that failed at the same time share one confirmation. */
let pending: Promise<boolean> | undefined

const confirm = (method: Method): Promise<boolean> => {
  pending ??= new Promise<boolean>((resolve) => {
    asked.value = { method, finish: resolve }
  }).finally(() => {
    asked.value = undefined
    pending = undefined
  })
  return pending
}

/**
 * Sends a request. If the platform asks for a confirmation, asks the admin for it and repeats the request. The platform
 * hasn't done anything until then.
 */
export const sendConfirmed = async (request: Request): Promise<Response> => {
  const again = request.clone()
  const response = await fetch(request)
  if (response.status !== 403) return response
  const { error } = ((await response
    .clone()
    .json()
    .catch(() => ({}))) ?? {}) as {
    error?: { code?: string; details?: { confirm_with?: Method } }
  }
  if (error?.code === 'passkey_required') requirePasskey()
  if (error?.code !== 'confirmation_required') return response
  return (await confirm(error.details?.confirm_with ?? 'password')) ? fetch(again) : response
}
