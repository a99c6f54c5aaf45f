"""Reads cases, one JSON object a line, and prints for each whether the official verifier takes it."""

import base64
import json
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

for line in sys.stdin:
    case = json.loads(line)
    try:
        body = base64.b64decode(case["body"])
        Webhook(case["secret"]).verify(body, case["headers"], json_parse=False)
        print(json.dumps({"v1": True}))
    except WebhookVerificationError:
        print(json.dumps({"v1": False}))
