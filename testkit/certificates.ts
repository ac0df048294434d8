import { generate } from 'selfsigned'

export interface Certificate {
  key: string
  cert: string
}

/** Fault of a receiver's certificate, or `valid`. */
export type CertificateKind = 'valid' | 'expired' | 'not-yet-valid' | 'self-signed' | 'wrong-host' | 'unknown-authority'

const DAY = 86_400_000
const EC = { keyType: 'ec', algorithm: 'sha256' } as const

const authority = (name: string): Promise<Certificate> =>
  generate([{ name: 'commonName', value: name }], {
    ...EC,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  }).then(({ private: key, cert }) => ({ key, cert }))

let trusted: Promise<Certificate> | undefined

/** Returns the authority that tests trust. It is created once per test file, in memory only. */
export const testAuthority = (): Promise<Certificate> => {
  trusted ??= authority('Test Authority')
  return trusted
}

/**
 * Creates a certificate for `localhost`, 127.0.0.1 and ::1, or one with the given fault.
 * @param host further name that it is for
 */
export const certificate = async (kind: CertificateKind, host?: string): Promise<Certificate> => {
  const issuer = kind === 'unknown-authority' ? await authority('Other Authority') : await testAuthority()
  const [from, until] = { expired: [-10, -1], 'not-yet-valid': [1, 10] }[kind as string] ?? [-1, 10]
  const names =
    kind === 'wrong-host'
      ? [{ type: 2 as const, value: 'elsewhere.example.com' }]
      : [
          { type: 2 as const, value: 'localhost' },
          { type: 7 as const, ip: '127.0.0.1' },
          { type: 7 as const, ip: '::1' },
          ...(host === undefined ? [] : [{ type: 2 as const, value: host }]),
        ]
  const made = await generate([{ name: 'commonName', value: 'localhost' }], {
    ...EC,
    notBeforeDate: new Date(Date.now() + (from ?? 0) * DAY),
    notAfterDate: new Date(Date.now() + (until ?? 0) * DAY),
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'keyUsage', digitalSignature: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: names },
    ],
    ...(kind === 'self-signed' ? {} : { ca: issuer }),
  })
  return { key: made.private, cert: made.cert }
}
