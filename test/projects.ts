/** Tests that need the build, a browser or processes of their own, and look at the clock while they run. */
export const WHOLE = ['test/{browser,e2e,events,local,protocols}/**/*.test.ts', 'test/contract/responses.test.ts']

/** Tests that need Python and download packages, for `npm run test:python` only. */
export const PYTHON = ['test/python/**/*.test.ts']

/** Tests that need Python and Go and download packages, for `npm run test:generators` only. */
export const GENERATORS = ['test/generators/**/*.test.ts']

/** Tests that install agent frameworks, for `npm run test:frameworks` only. */
export const FRAMEWORKS = ['test/frameworks/**/*.test.ts']

/** Tests that need another browser than Chromium, for `npm run test:engines` only. */
export const ENGINES = ['test/engines/**/*.test.ts']

/** Tests that install servers of models and receivers of traces, for `npm run test:models` only. */
export const MODEL_SERVERS = ['test/model-servers/**/*.test.ts']
