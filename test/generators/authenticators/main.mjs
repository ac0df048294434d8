// An authenticator with one passkey. It reads a ceremony as JSON from each line, and prints the credential's answer.
import { createInterface } from 'node:readline'
import { WebAuthnEmulator } from 'nid-webauthn-emulator'

const emulator = new WebAuthnEmulator()
for await (const line of createInterface({ input: process.stdin })) {
  const { type, origin, options } = JSON.parse(line)
  const answer = type === 'create' ? emulator.createJSON(origin, options) : emulator.getJSON(origin, options)
  console.log(JSON.stringify(answer))
}
