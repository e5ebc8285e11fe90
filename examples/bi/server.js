// Serves Cube's API and the page that asks it. Reads the server's place from CUBEJS_DB_HOST (a socket directory or a host) and
// CUBEJS_DB_PORT, and the port of the page from PORT.
Object.assign(process.env, {
  CUBEJS_CACHE_AND_QUEUE_DRIVER: 'memory',
  CUBEJS_DB_TYPE: 'postgres',
  CUBEJS_DB_NAME: 'clinic',
  CUBEJS_DB_USER: 'dashboard',
  CUBEJS_TELEMETRY: 'false',
  NODE_ENV: 'production',
});
const { randomBytes } = require('crypto');
const path = require('path');
const express = require('express');
const { CubejsServerCore } = require('@cubejs-backend/server-core');

async function main() {
  const core = new CubejsServerCore({
    apiSecret: randomBytes(32).toString('hex'),
    // The page is on this machine only, and everybody who sees it asks as one role.
    checkAuth: () => {},
    logger: (message, { error }) => error && console.error(message, String(error)),
    scheduledRefreshTimer: false,
    schemaPath: 'model',
    telemetry: false,
  });
  const app = express();
  app.use(express.json());
  app.use(express.static(path.join(__dirname, 'page')));
  await core.initApp(app);
  const server = app.listen(process.env.PORT || 4000, '127.0.0.1', () => {
    console.log(`http://127.0.0.1:${server.address().port}`);
  });
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
