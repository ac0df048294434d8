/** Builds, synthesizes and unpacks once, before the first test that needs it. Imports are dynamic, because unit tests need none. */
export default async (): Promise<void> => {
  const [{ prepare }, { ASSEMBLY }, { unpackChromium }] = await Promise.all([
    import('#local/prepare.ts'),
    import('./assembly.ts'),
    import('./chromium.ts'),
  ])
  await Promise.all([prepare({ cdkOut: ASSEMBLY.cdkOut }), unpackChromium()])
}
