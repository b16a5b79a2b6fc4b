# SPDX-License-Identifier: Apache-2.0
"""The measured networks, with random weights and data, in mixed precision."""
import torch

# Name: batch per GPU. Sizes as in MLPerf Training and the papers of BERT-large and GPT-2.
NETWORKS = {"resnet50": 128, "bert_large": 16, "gpt2": 8}


def resnet50(batch):
    import torchvision

    model = torchvision.models.resnet50(weights=None)
    images = torch.randn(batch, 3, 224, 224, device="cuda")
    labels = torch.randint(0, 1000, (batch,), device="cuda")
    loss = torch.nn.CrossEntropyLoss()
    return model, lambda network: loss(network(images), labels)


def bert_large(batch):
    import transformers

    config = transformers.BertConfig(
        hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096
    )
    model = transformers.BertForMaskedLM(config)
    tokens = torch.randint(0, config.vocab_size, (batch, 512), device="cuda")
    return model, lambda network: network(input_ids=tokens, labels=tokens).loss


def gpt2(batch):
    import transformers

    config = transformers.GPT2Config()
    model = transformers.GPT2LMHeadModel(config)
    tokens = torch.randint(0, config.vocab_size, (batch, 1024), device="cuda")
    return model, lambda network: network(input_ids=tokens, labels=tokens).loss


class TrainingStep:
    """One step in phases; `mark` is a context manager around each."""

    def __init__(self, name):
        # Kernels must be the same in every process and step; benchmark mode could vary them.
        torch.backends.cudnn.benchmark = False
        torch.backends.cuda.matmul.allow_tf32 = True
        self.model, self.loss_of = globals()[name](NETWORKS[name])
        self.model.cuda().train()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3, momentum=0.9)

    def forward(self):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            return self.loss_of(self.model)

    def __call__(self, mark):
        with mark("forward"):
            loss = self.forward()
        with mark("backward"):
            loss.backward()
        with mark("optimizer"):
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=False)


def make_step(name):
    return TrainingStep(name)
